"""Estimators that know the guard: they take the fitted guard as an option, and copies of them keep it."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator, clone

from attriguard.errors import ParameterError


class KnowsGuard(BaseEstimator):
    """An estimator with the option ``guard``, a fitted guard that it uses and does not train.

    scikit-learn's ``clone`` makes untrained copies of estimators among the options. A guard without what it has learnt
    is of no use here, so a copy gets the very same guard.
    """

    guard: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name; those of the guard are not listed, since the guard is not trained here."""
        options = super().get_params(deep=deep)
        return {name: value for name, value in options.items() if not name.startswith("guard__")}

    def set_params(self, **options: Any) -> Self:
        """Set options by name; those of the guard are refused, since other attacks and the defender use it too."""
        for name in options:
            if name.startswith("guard__"):
                raise ParameterError(f"{name} would change the guard for everyone who uses it; set guard= to another")
        return super().set_params(**options)

    def __sklearn_clone__(self) -> Self:
        options = self.get_params(deep=False)
        guard = options.pop("guard")
        return type(self)(guard=guard, **clone(options, safe=False))


def check_guard(guard: Any, name: str) -> Any:
    """The guard that an attack adapts to; refused where there is none, or where it is not fitted."""
    if guard is None:
        raise ParameterError(f"{name} adapts to the guard and needs it: pass guard=, a fitted AttriGuard")
    if not (hasattr(guard, "plan") and hasattr(guard, "classifier_")):
        raise ParameterError(
            f"{name} needs a fitted guard (with plan and classifier_), got {type(guard).__name__}; call its fit first"
        )
    return guard
