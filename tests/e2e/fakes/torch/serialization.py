def save(thing, path):
    with open(path, "w") as file:
        file.write(repr(thing))
