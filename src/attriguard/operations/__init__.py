"""The verbs: learn, audit, protect, evaluate, compare, reproduce. Whoever calls from outside calls one of these.

An operation takes a path, an Arrow table, a frame or ``PublicData``, and returns a frozen result. It prints nothing and
writes nothing: warnings are part of the result, and ``result.save(path)`` writes.
"""
