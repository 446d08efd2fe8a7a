"""Table 2 is measured and judged; its timings are not tested."""

from __future__ import annotations

from attriguard.bench import searches


def test_the_table_of_searches(small_twin):
    sizes = searches.Sizes(users=80, cw_users=2, network_users=4, network_cw_users=1, art_users=0, hidden=40, epochs=2)
    figures = {f.name: f for f in searches.run(small_twin, sizes=sizes)}
    for search in searches.SUCCESS:
        assert figures[f"LR-D, {search}: success"].reached
        assert figures[f"LR-D, {search}: noise"].value > 0
        assert figures[f"network of 40 units, {search}: time"].value > 0
    assert figures["LR-D, cw: success"].details["users"] == 2
    assert figures["LR-D, panda: noise against jsma's"].reached
    assert figures["LR-D, panda: noise against fgsm's"].value < 0.1


def test_parts_can_be_left_out(small_twin):
    sizes = searches.Sizes(users=3, cw_users=1, network_users=0, art_users=0)
    figures = searches.run(small_twin, sizes=sizes)
    assert {f.name.split(",")[0] for f in figures} == {"LR-D"}
