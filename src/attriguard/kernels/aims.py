"""What a step of Algorithm 1 raises. Of the first three each is tried where the one behind it gets nowhere."""

from __future__ import annotations

# C_i alone; its lead over the closest rival; or, until one step is enough for the lead, the value's probability, in
# which all rivals have a part. The last one is Algorithm 1 as printed with C_i the value's probability: every step
# raises it, each rival counts by its probability, and a decrease as much as an increase.
VALUE, LEAD, PROBABILITY, CONFIDENCE = 0, 1, 2, 3
# On the way to a probability, a rival counts by its probability to this power: more than 1, since only the largest must
# be passed in the end.
SHARPNESS = 2.0
# There a decrease counts as so many times its gain: an entry that is gone tells nothing to any classifier, an added one
# tells this one what it does. (How both were chosen: docs/notebook/searches.md.)
DECREASE = 1.25
