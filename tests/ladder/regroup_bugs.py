"""Bugs to plant in splits and merges of coteries with parameters, and what catches each."""

from ladder.bugs import in_file
from ladder.regroup import CONSENSUS, HCBCC
from ladder.regroup_checks import (
    check_balance,
    check_density,
    check_drawn_density,
    check_draws,
    check_fit,
    check_launch,
    check_long_counts,
    check_pairs,
    check_tiny_shapes,
)

FOLDER = "kernels/gibbs/regroup/"
MOVE, PAIRS, DENSITY = FOLDER + "move.py", FOLDER + "pairs.py", FOLDER + "density.py"
FIT, HEAPS = FOLDER + "fit.py", FOLDER + "heaps.py"
SHARED, MEANS = "kernels/gibbs/pairs.py", "kernels/gibbs/consensus/split.py"

# name: (case, check, edits)
BUGS = {
    "CRP factor forgotten": (
        HCBCC,
        check_balance,
        in_file(MOVE, ("result, drawn = log_concentration, room", "result, drawn = 0.0, room")),
    ),
    "sizes forgotten": (
        HCBCC,
        check_balance,
        in_file(MOVE, ("log_p = math.lgamma(room.heaps.size[k])", "log_p = 0.0")),
    ),
    "where they go forgotten": (
        HCBCC,
        check_balance,
        in_file(
            MOVE,
            (
                "log_split(log_concentration, means, room) - log_so",
                "log_split(log_concentration, means, room)",
            ),
        ),
    ),
    "where they went forgotten on the way back": (
        HCBCC,
        check_balance,
        in_file(MOVE, ("return log_most + allocate(False, crowd, room, rng)", "return log_most")),
    ),
    "no launch on the way back": (
        HCBCC,
        check_balance,
        in_file(
            MOVE,
            ("    launch(crowd, means, room, rng)\n    return log_most", "    return log_most"),
        ),
    ),
    "choice of a split forgotten": (
        HCBCC,
        check_balance,
        in_file(
            MOVE,
            (
                "log_choice_back(True, crowd, room) - log_choice",
                "log_choice_back(True, crowd, room)",
            ),
        ),
    ),
    "choice of a merge forgotten": (
        CONSENSUS,
        check_balance,
        in_file(
            MOVE,
            (
                "log_choice_back(False, crowd, room) - log_choice",
                "log_choice_back(False, crowd, room)",
            ),
        ),
    ),
    "density of what is drawn forgotten": (
        HCBCC,
        check_balance,
        in_file(
            DENSITY,
            (
                "return float(result - log_drawn(k, place, log_strength, log_mean, room.fits))",
                "return float(result)",
            ),
        ),
    ),
    "new parameters for what is there": (
        HCBCC,
        check_balance,
        in_file(MOVE, ("if (k == BOTH) == splits:", "if k == BOTH and splits:")),
    ),
    "parameters of the other side": (
        HCBCC,
        check_balance,
        in_file(
            MOVE,
            ("write_parameters(LEAVES, b, crowd, room)", "write_parameters(STAYS, b, crowd, room)"),
        ),
    ),
    "emptied coterie kept": (
        HCBCC,
        check_balance,
        in_file(MOVE, ("        close_group(b, crowd.slot, crowd.n_coteries)\n", "        pass\n")),
    ),
    "partner on the way back forgotten": (
        HCBCC,
        check_balance,
        in_file(PAIRS, ("math.log(room.weights[own]) - math.log((n", "-math.log((n")),
    ),
    "as many coteries on the way back": (
        HCBCC,
        check_balance,
        in_file(PAIRS, ("math.log((n_coteries + 1) * size", "math.log(n_coteries * size")),
    ),
    "i among those who may leave": (
        HCBCC,
        check_balance,
        in_file(PAIRS, ("size[BOTH] * (size[BOTH] - 1)", "size[BOTH] * size[BOTH]")),
    ),
    "i left with themselves": (HCBCC, check_pairs, in_file(SHARED, (" and l != but", ""))),
    "some to merge with never chosen": (
        HCBCC,
        check_pairs,
        in_file(PAIRS, ("rng.random() * crowd.size[b]", "rng.random() * (crowd.size[b] - 1)")),
    ),
    "partner's probability not said": (
        HCBCC,
        check_pairs,
        in_file(PAIRS, ("log_first + math.log(weights[chosen]) - math", "log_first - math")),
    ),
    "partners alike whatever was said": (
        CONSENSUS,
        check_pairs,
        in_file(
            PAIRS,
            ("weights[k] = ROOT * log_p if log_p > LOWEST", "weights[k] = ROOT if log_p > LOWEST"),
        ),
    ),
    "sides noted by the launch": (
        HCBCC,
        check_launch,
        in_file(
            MOVE,
            (
                "room.launched[place] = STAYS if stays",
                "room.side[l] = room.launched[place] = STAYS if stays",
            ),
        ),
    ),
    "launch from where they are": (
        HCBCC,
        check_launch,
        in_file(
            MOVE,
            ("int64(room.launched[place]), crowd", "int64(room.side[room.others[place]]), crowd"),
        ),
    ),
    "sizes of the launch forgotten": (
        HCBCC,
        check_launch,
        in_file(MOVE, ("result = math.log(room.heaps.size[k])", "result = 0.0")),
    ),
    "sides exchanged": (
        HCBCC,
        check_launch,
        in_file(MOVE, ("math.exp(log_share(odds)) else", "math.exp(log_share(-odds)) else")),
    ),
    "prior of strengths forgotten": (
        HCBCC,
        check_density,
        in_file(
            DENSITY,
            (
                "log_gamma_density_of_log(log_strength[place, g], means.shape[g], means.rate[g])",
                "0.0",
            ),
        ),
    ),
    "constant of the prior forgotten": (
        CONSENSUS,
        check_density,
        in_file(DENSITY, ("result = means.log_constant + weigh", "result = weigh")),
    ),
    "what is known twice": (
        CONSENSUS,
        check_density,
        in_file(FIT, ("d * known + (1 - d) * guessed", "known + (1 - d) * guessed")),
    ),
    "guesses of before": (
        CONSENSUS,
        check_density,
        in_file(MEANS, ("room.means.guess[c, t] = prior.mean_strength * state.guess[c]", "pass")),
    ),
    "totals forgotten": (
        HCBCC,
        check_density,
        in_file(DENSITY, ("result -= log_cell(n_answers", "result -= 0 * log_cell(n_answers")),
    ),
    "one label too few": (
        HCBCC,
        check_density,
        in_file(
            HEAPS,
            (
                "for j in range(n if n < most else most):",
                "for j in range(n - 1 if n < most else most):",
            ),
        ),
    ),
    "long counts cut": (
        HCBCC,
        check_long_counts,
        in_file(HEAPS, ("        heaps.n_long[k] = place + 1\n", "        pass\n")),
    ),
    "long counts of one side": (
        HCBCC,
        check_long_counts,
        in_file(HEAPS, ("            place += 1\n", "            pass\n")),
    ),
    "long counts weighed from the start": (
        HCBCC,
        check_long_counts,
        in_file(
            HEAPS,
            ("log_rising_after(x, most, int64(n) - most", "log_rising_after(x, 0, int64(n) - most"),
        ),
    ),
    "density of beta, not of its log": (
        HCBCC,
        check_drawn_density,
        in_file(
            DENSITY,
            ("0.5 * math.log(precision)\n", "0.5 * math.log(precision) - log_strength[place, g]\n"),
        ),
    ),
    "both densities of eta, not of its log": (
        CONSENSUS,
        check_tiny_shapes,
        in_file(
            DENSITY,
            (
                "result += p * (log_r + log_mean[place, c, t])",
                "result += p * (log_r + log_mean[place, c, t]) - log_mean[place, c, t]",
            ),
            (
                "weigh_points(place, log_mean, means, fits)",
                "weigh_points(place, log_mean, means, fits) - log_mean[place].sum()",
            ),
        ),
    ),
    "center that stays": (
        HCBCC,
        check_draws,
        in_file(
            DENSITY,
            (
                "draw_log_gamma(p, rng) - math.log(p) + around",
                "draw_log_gamma(p, rng) - math.log(p) + fits.log_mean[k, c, t]",
            ),
        ),
    ),
    "precision for a scale": (
        CONSENSUS,
        check_draws,
        in_file(
            DENSITY,
            (
                "math.sqrt(\n            fits.strength_precision[k, g]\n        )",
                "(\n            fits.strength_precision[k, g]\n        )",
            ),
        ),
    ),
    "Gamma(p) of the wrong p": (
        HCBCC,
        check_drawn_density,
        in_file(DENSITY, ("math.lgamma(p + 1) - math.log(p)", "math.lgamma(p + 1)")),
    ),
    "fit not at the top": (
        HCBCC,
        check_fit,
        in_file(FIT, ("slope += given - fits.total[t, 0]", "slope += given")),
    ),
    "spread forgotten": (
        HCBCC,
        check_fit,
        in_file(
            FIT,
            (
                "fits.weight[c, t] + fits.tables[c, t] - fits.spread[c, t]",
                "fits.weight[c, t] + fits.tables[c, t]",
            ),
        ),
    ),
}
