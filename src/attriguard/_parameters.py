"""Parameters by their names, as scikit-learn's tools ask for them, without scikit-learn, which takes long to load."""

from __future__ import annotations

import inspect
from typing import Any, Self

from attriguard.errors import ParameterError


class Parameters:
    """A class whose ``__init__`` stores each of its parameters under the parameter's own name."""

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        known = inspect.signature(cls.__init__).parameters
        return {name: parameter.default for name, parameter in known.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by their names; ``deep`` is there for scikit-learn, no parameter has parameters."""
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **params: Any) -> Self:
        """Set some of the parameters; what they mean is checked when they are used."""
        known = self._defaults()
        for name, value in params.items():
            if name not in known:
                raise ParameterError(f"{type(self).__name__} has no parameter {name!r}; known: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        usual, now = self._defaults(), self.get_params()
        chosen = ", ".join(f"{name}={value!r}" for name, value in now.items() if repr(value) != repr(usual[name]))
        return f"{type(self).__name__}({chosen})"
