"""iBCC against NUTS (NumPyro) on the marginal model: effective draws of the class totals a second.

``python -m benchmarks.samplers.nuts``. NUTS sums the truth out and samples the matrices and the
class balance; the truth is then drawn for every draw, as coterie does. Both count the time after
warm-up only, and NUTS neither its compilation nor those draws of the truth.
"""

from __future__ import annotations

import importlib.util
import time
from typing import Any

import numpy as np

from benchmarks.samplers import problems
from benchmarks.samplers.adapters import Sampler, count, ibcc_prior, one_group
from benchmarks.samplers.effective import effective
from benchmarks.samplers.report import Report, run

TARGET = ">= 80"
WARM_UP, DRAWS = 300, 300
OUR_BURN_IN, OUR_SWEEPS = 1_000, 5_000


def our_draws(sampler: Sampler) -> tuple[np.ndarray, float]:
    """Class totals, shape (draws, T), and the seconds they took."""
    sampler.run(OUR_BURN_IN)
    start = time.perf_counter()
    trace = sampler.run(OUR_SWEEPS)
    return trace["class_total"], time.perf_counter() - start


def log_terms(psi: Any, tau: Any, item: Any, annotator: Any, answer: Any) -> Any:
    """Log p(z[i] = t, labels of i) for every item and class, shape (N, T)."""
    import jax
    import jax.numpy as jnp

    of_label = jnp.log(psi)[annotator, :, answer]
    n_items = int(item[-1]) + 1
    of_item = jax.ops.segment_sum(of_label, item, n_items, indices_are_sorted=True)
    return jnp.log(tau) + of_item


def nuts_draws(sampler: Sampler) -> tuple[np.ndarray, float]:
    """The same from NUTS."""
    import jax
    import numpyro
    from numpyro import distributions
    from numpyro.infer import MCMC, NUTS, init_to_value

    numpyro.enable_x64()
    data, prior = sampler.data, ibcc_prior(sampler.data)
    item = np.repeat(np.arange(len(data.gold)), np.diff(data.item_start))
    labels = (item, np.asarray(data.item_annotator), np.asarray(data.item_answer))
    n_annotators = len(data.annotator_start) - 1

    def model() -> None:
        tau = numpyro.sample("tau", distributions.Dirichlet(prior.class_weight))
        base = distributions.Dirichlet(prior.weight).expand((n_annotators, data.n_classes))
        psi = numpyro.sample("psi", base.to_event(2))
        terms = log_terms(psi, tau, *labels)
        numpyro.factor("labels", jax.scipy.special.logsumexp(terms, axis=1).sum())

    at, _ = sampler.where()
    psi = count(at, data) + prior.weight
    tau = np.bincount(at, minlength=data.n_classes) + prior.class_weight
    start = {"psi": psi / psi.sum(axis=2, keepdims=True), "tau": tau / tau.sum()}
    kernel = NUTS(model, init_strategy=init_to_value(values=start))
    chain = MCMC(kernel, num_warmup=WARM_UP, num_samples=DRAWS, progress_bar=False)
    chain.warmup(jax.random.PRNGKey(0))
    chain.run(jax.random.PRNGKey(1))  # compiles
    begin = time.perf_counter()
    chain.run(jax.random.PRNGKey(2))
    taken = time.perf_counter() - begin
    samples = chain.get_samples()
    terms = jax.vmap(lambda psi, tau: log_terms(psi, tau, *labels))(samples["psi"], samples["tau"])
    truth = np.asarray(jax.random.categorical(jax.random.PRNGKey(3), terms))
    totals = [(truth == t).sum(axis=1) for t in range(data.n_classes)]
    return np.stack(totals, axis=1), taken


def main(report: Report, labels: int) -> None:
    report.table(
        "iBCC against NUTS, effective draws of the class totals",
        "rte", "draws", "seconds", "effective", "a second", "mean total",
    )  # fmt: skip
    found = problems.real("rte")
    if found is None or importlib.util.find_spec("numpyro") is None:
        what = "NumPyro (pip install --group bench-extra)" if found else "rte (COTERIE_DATA)"
        report.say(f"{what} is not there: not measured")
        return
    sampler = Sampler("ibcc", found.codes, one_group(found.codes))
    rates = []
    for name, draw in (("ours", our_draws), ("NUTS", nuts_draws)):
        totals, seconds = draw(sampler)
        count = effective(totals)
        rates.append(count / seconds)
        report.row(
            name, f"{len(totals):,}", f"{seconds:.2f}", f"{count:,.0f}", f"{rates[-1]:,.1f}",
            f"{totals[:, 0].mean():.1f}",
        )  # fmt: skip
    report.ratio("rte: ours / NUTS, effective draws per second", rates[0] / rates[1], TARGET, 0)


if __name__ == "__main__":
    run(main)
