# SPDX-License-Identifier: Apache-2.0
def save(thing, path):
    with open(path, "w") as file:
        file.write(repr(thing))
