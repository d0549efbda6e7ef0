# SPDX-License-Identifier: Apache-2.0
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


class _Trigger(object):
    """Loads trainwatch when a framework is imported: the other Pythons start as fast as ever."""

    FRAMEWORKS = ("torch", "keras", "tensorflow", "transformers", "lightning", "pytorch_lightning",
                  "wandb", "tensorboardX", "mlflow")

    def find_spec(self, name, path=None, target=None):
        if name not in self.FRAMEWORKS or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        try:
            if "trainwatch" not in sys.modules:
                _load()
            from trainwatch._autoload import install
            install()
        except Exception:
            sys.stderr.write("trainwatch: this process is not observed: %r\n" % (sys.exc_info()[1],))
        for finder in list(sys.meta_path):  # the one that install() put in front among them
            found = getattr(finder, "find_spec", None)
            spec = found(name, path, target) if found else None
            if spec is not None:
                return spec
        return None


try:
    _run_the_hidden_one()
finally:
    if os.environ.get("TRAINWATCH_AUTOLOAD") and sys.version_info >= (3, 8):
        sys.meta_path.insert(0, _Trigger())
