"""The Adversarial Robustness Toolbox (ART), whose saliency map method the searches are compared with."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from attriguard.errors import MissingExtraError


def saliency_maps(model: Any, x: np.ndarray, m: int) -> dict[str, float]:
    """ART's SaliencyMapMethod on a scikit-learn classifier, for all m values of every row of ``x``.

    Gives seconds a user, the mean L0 of the noise, and the share of (user, value) pairs that it reaches.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # ART warns of frameworks that are not installed
            from art.attacks.evasion import SaliencyMapMethod
            from art.estimators.classification import SklearnClassifier
    except ImportError as error:
        raise MissingExtraError("this benchmark needs the extra 'bench': pip install 'attriguard[bench]'") from error
    attack = SaliencyMapMethod(
        SklearnClassifier(model, clip_values=(0, 1)), theta=1.0, gamma=1.0, batch_size=m, verbose=False
    )
    targets = np.eye(m)
    noise, success, start = 0, 0, time.perf_counter()
    for row in x:
        copies = np.repeat(row[None], m, axis=0)
        found = attack.generate(copies, y=targets)
        noise += int((found != copies).sum())
        success += int((model.predict(found) == np.arange(m)).sum())
    seconds = time.perf_counter() - start
    pairs = len(x) * m
    return {"seconds_a_user": seconds / len(x), "mean_l0": noise / pairs, "success": success / pairs}
