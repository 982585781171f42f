"""Bugs to plant in Consensus: each an edit of its source, and the check that must catch it."""

from ladder.bugs import in_file
from ladder.consensus import checks, draws, stationarity
from ladder.consensus.cases import FREE_CASE, REPEATED_CASE, THREE_CASE, TWO_CASE

FOLDER = "kernels/gibbs/consensus"
ITEMS, BASE, SWAP = f"{FOLDER}/items.py", f"{FOLDER}/base.py", f"{FOLDER}/swap.py"
PARAMETERS, GROUPS, TALLY = (
    f"{FOLDER}/parameters.py",
    f"{FOLDER}/groups.py",
    f"{FOLDER}/tally.py",
)
MODEL, STATE = f"{FOLDER}/model.py", f"{FOLDER}/state.py"

# name: (case, check, edits)
BUGS = {
    "guesses counted in matrices": (
        TWO_CASE,
        checks.check_bookkeeping,
        in_file(ITEMS, ("    if own == 1:\n", "    if own >= 0:\n")),
    ),
    "guesses counted twice": (
        REPEATED_CASE,
        stationarity.check_items_are_stationary,
        in_file(
            ITEMS,
            (
                "counts.guessed[data.item_answer[label]] += 1",
                "counts.guessed[data.item_answer[label]] += 2",
            ),
        ),
    ),
    "counts not cleared": (
        TWO_CASE,
        checks.check_bookkeeping,
        in_file(MODEL, ("    counts.kind_total[:] = 0\n", "")),
    ),
    "totals of the last sweep": (
        TWO_CASE,
        checks.check_bookkeeping,
        in_file(MODEL, ("        add_totals(state)\n", "")),
    ),
    "shares of kinds forgotten": (
        TWO_CASE,
        checks.check_items,
        in_file(
            ITEMS,
            ("weights[k * n_classes + t] = drawn.kinds[k]", "weights[k * n_classes + t] = 1.0"),
        ),
    ),
    "guesses not scaled": (
        TWO_CASE,
        checks.check_items,
        in_file(ITEMS, (" guess = prior.guessing[k] * drawn.hard[c]", " guess = drawn.hard[c]")),
    ),
    "class balance forgotten in logs": (
        THREE_CASE,
        checks.check_items,
        in_file(ITEMS, ("log_weight + drawn.log_balance[t] if possible", "log_weight if possible")),
    ),
    "gold forgotten": (
        THREE_CASE,
        checks.check_items,
        in_file(ITEMS, ("balance[t] if gold < 0 or gold == t else 0.0", "balance[t]")),
    ),
    "sources ignore the kind": (
        TWO_CASE,
        checks.check_sources,
        in_file(
            ITEMS,
            (
                "from_matrix = (1 - prior.guessing[k]) * drawn.chance[l, c, t]",
                "from_matrix = drawn.chance[l, c, t]",
            ),
        ),
    ),
    "sources drawn the wrong way round": (
        TWO_CASE,
        stationarity.check_items_are_stationary,
        in_file(ITEMS, ("rng.random() < share_own(", "rng.random() > share_own(")),
    ),
    "kinds not kept": (
        THREE_CASE,
        checks.check_bookkeeping,
        in_file(ITEMS, ("chosen.truth[i], chosen.kind[i] = t, k", "chosen.truth[i] = t")),
    ),
    "guess of the wrong answer": (
        TWO_CASE,
        checks.check_means,
        in_file(BASE, ("(knows + (1 - d) * state.guess[c])", "(knows + (1 - d) * state.guess[t])")),
    ),
    "knowledge and guesses exchanged": (
        TWO_CASE,
        checks.check_knowledge,
        in_file(
            BASE,
            ("guessed * prior.log_point[j, 0] + known", "guessed * prior.log_point[j, 1] + known"),
        ),
    ),
    "what was known counts as guessed": (
        TWO_CASE,
        draws.check_base,
        in_file(BASE, ("                        draws -= knew\n", "")),
    ),
    "tables taken for draws from the base": (
        TWO_CASE,
        draws.check_base,
        in_file(BASE, ("draws = int64(draw_antoniak(s, x, table, length, rng))", "draws = s")),
    ),
    "nu forgotten": (
        TWO_CASE,
        checks.check_strength,
        in_file(
            PARAMETERS, ("log_add(math.log(prior.rate + decay), log_decay)", "math.log(prior.rate)")
        ),
    ),
    "tables of the last class only": (
        TWO_CASE,
        checks.check_strength,
        in_file(
            PARAMETERS,
            (
                "            shape += sums.tables[c, t]\n",
                "            shape = prior.shape + sums.tables[c, t]\n",
            ),
        ),
    ),
    "tables forgotten in means": (
        TWO_CASE,
        checks.check_means,
        in_file(PARAMETERS, (" + tables[place, c, t])", ")")),
    ),
    "matrices of one coterie": (
        TWO_CASE,
        draws.check_given,
        in_file(PARAMETERS, ("    m = state.group[l]\n", "    m = state.group[0]\n")),
    ),
    "matrices without their labels": (
        TWO_CASE,
        draws.check_given,
        in_file(
            PARAMETERS,
            ("state.weight[m, c, t] + state.said[l, c, t], rng", "state.weight[m, c, t], rng"),
        ),
    ),
    "auxiliaries of an earlier w": (
        TWO_CASE,
        draws.check_fresh,
        in_file(GROUPS, ("        if k >= n_coteries:\n", "        if k > n_coteries:\n")),
    ),
    "auxiliaries weigh alpha each": (
        TWO_CASE,
        checks.check_groups,
        in_file("kernels/gibbs/hcbcc/reuse.py", (" - math.log(prior.auxiliaries)\n", "\n")),
    ),
    "d of a new coterie kept": (
        TWO_CASE,
        stationarity.check_swap_is_stationary,
        in_file(
            SWAP,
            (
                "redraw_known(int64(state.slot[k]), state, prior, room, rng.random())",
                "rng.random()",
            ),
        ),
    ),
    "exchange without class weights": (
        TWO_CASE,
        checks.check_swap,
        in_file(
            SWAP,
            (
                "math.lgamma(weight[a] + total[b]) + math.lgamma(weight[b] + total[a])",
                "math.lgamma(weight[a] + total[a]) + math.lgamma(weight[b] + total[b])",
            ),
        ),
    ),
    "exchange at a fixed d": (
        TWO_CASE,
        checks.check_swap,
        in_file(
            SWAP,
            (
                "        log_total = log_add(log_total, room.points[j])\n",
                "        log_total = room.points[j]\n",
            ),
        ),
    ),
    "extra answers without a row": (
        FREE_CASE,
        checks.check_swap,
        in_file(
            SWAP, ("rows = n_classes - 1 if c < n_classes else n_classes", "rows = n_classes - 1")
        ),
    ),
    "gold classes exchanged": (
        REPEATED_CASE,
        checks.check_swap,
        in_file(
            STATE,
            ("np.setdiff1d(np.arange(data.n_classes), data.gold)", "np.arange(data.n_classes)"),
        ),
    ),
    "counts not exchanged": (
        TWO_CASE,
        checks.check_exchange,
        in_file(SWAP, ("            row[a], row[b] = row[b], row[a]\n", "            pass\n")),
    ),
    "shapes not exchanged": (
        TWO_CASE,
        checks.check_exchange,
        in_file(
            SWAP,
            ("            weight[a], weight[b] = weight[b], weight[a]\n", "            pass\n"),
        ),
    ),
    "exchange taken too often": (
        TWO_CASE,
        stationarity.check_swap_is_stationary,
        in_file(
            SWAP,
            (
                "if math.log1p(-rng.random()) < log_ratio",
                "if math.log1p(-rng.random()) < 0.5 * log_ratio",
            ),
        ),
    ),
    "tempered by n": (
        TWO_CASE,
        draws.check_tally,
        in_file(TALLY, ("design_effect * (n - 1)", "design_effect * n")),
    ),
    "class balance tempered": (
        TWO_CASE,
        draws.check_tally,
        in_file(
            TALLY,
            (
                "tau * work.marginal[t] + drawn.log_balance[t]",
                "tau * (work.marginal[t] + drawn.log_balance[t])",
            ),
        ),
    ),
    "unlabelled items without the prior": (
        THREE_CASE,
        draws.check_tally,
        in_file(
            TALLY,
            (
                "share = (state.class_total[t] + prior.class_weight[t]) / all_classes",
                "share = state.class_total[t] / all_classes",
            ),
        ),
    ),
}
