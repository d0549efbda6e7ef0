# Found first on PYTHONPATH by the Python processes of a training that trainwatch launched: its ranks,
# its loader workers. Also read by Pythons that are too old for trainwatch, so it must not be newer
# than they are. Whatever goes wrong here, the process goes on.
import os
import sys


def _run_the_hidden_one():
    """The sitecustomize of the system or of the user, which this file hides."""
    here = os.path.dirname(os.path.abspath(__file__))
    path = [folder for folder in sys.path if os.path.abspath(folder or ".") != here]
    try:
        from importlib.machinery import PathFinder
        from importlib.util import module_from_spec
        spec = PathFinder.find_spec("sitecustomize", path)
        if spec is not None and spec.loader is not None:
            module = module_from_spec(spec)
            sys.modules["sitecustomize"] = module
            spec.loader.exec_module(module)
    except ImportError:
        pass


def _load():
    """From where this file lies: the package need not be installed for this Python."""
    from importlib.util import module_from_spec, spec_from_file_location
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    spec = spec_from_file_location("trainwatch", os.path.join(package, "__init__.py"),
                                   submodule_search_locations=[package])
    module = module_from_spec(spec)
    sys.modules["trainwatch"] = module
    spec.loader.exec_module(module)
    from trainwatch._autoload import install
    install()


try:
    _run_the_hidden_one()
finally:
    if os.environ.get("TRAINWATCH_AUTOLOAD") and sys.version_info >= (3, 8):
        try:
            _load()
        except Exception:
            sys.stderr.write("trainwatch: this process is not observed: %r\n" % (sys.exc_info()[1],))
