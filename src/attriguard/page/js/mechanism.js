// Phase II: the mechanism M*, the distribution over the candidates closest to p within the budget (kernels/kkt.py has
// the algebra).

const MOST_STEPS = 200, CONVERGED = 1e-10, TINY = 1e-290;

/** M*: minimise KL(p ‖ M) subject to Σ M_i cost_i ≤ budget; an infinite cost marks a value out of reach. */
export function solveMechanism(p, costs, budget) {
  const M = new Float64Array(p.length);
  const cheapest = costs.reduce((best, cost, i) => (cost < costs[best] ? i : best), 0);
  const index = [...p.keys()].filter((i) => p[i] > 0 && costs[i] < Infinity);
  if (!index.length) {
    M[cheapest] = 1;
    return M;
  }
  const total = index.reduce((sum, i) => sum + p[i], 0);
  const low = Math.min(...index.map((i) => costs[i]));
  const q = index.map((i) => p[i] / total), d = index.map((i) => costs[i] - low);
  const mean = q.reduce((sum, each, s) => sum + each * d[s], 0);
  const B = budget - low;
  const fill = (share) => index.forEach((i, s) => { M[i] = share(s); });
  if (mean <= B) {
    fill((s) => q[s]);
    return M;
  }
  const extra = low - costs[cheapest];
  if (extra > 0) {
    // A value of weight 0 is the cheapest: it takes what the others cannot use up.
    const part = q.map((each, s) => each * (B + extra) / (d[s] + extra));
    const used = part.reduce((sum, each) => sum + each, 0);
    if (used <= 1) {
      fill((s) => part[s]);
      M[cheapest] = 1 - used;
      return M;
    }
  }
  const free = q.reduce((sum, each, s) => (d[s] === 0 ? sum + each : sum), 0);
  if (B <= TINY) {
    fill((s) => (d[s] === 0 ? q[s] / free : 0));
    return M;
  }
  const lambda = rootOf(q, d, B, free, free / (1 - B * (1 - free) / mean));
  const weight = q.map((each, s) => each * B / (lambda * B + (1 - lambda) * d[s]));
  const used = weight.reduce((sum, each) => sum + each, 0);
  fill((s) => weight[s] / used);
  return M;
}

/** The λ in [low, 1] where g(λ) = Σ q_i (B − d_i) / (λ B + (1 − λ) d_i) changes its sign: Newton inside a bracket. */
function rootOf(q, d, B, low, guess) {
  let high = 1, lambda = Math.min(Math.max(guess, low), 1), before = Infinity;
  for (let step = 0; step < MOST_STEPS; step++) {
    let g = 0, slope = 0;
    for (let s = 0; s < q.length; s++) {
      const ratio = (B - d[s]) / (lambda * B + (1 - lambda) * d[s]);
      g += q[s] * ratio;
      slope -= q[s] * ratio * ratio;
    }
    if (g > 0) low = lambda;
    else high = lambda;
    let after = lambda - g / slope;
    if (Math.abs(after - lambda) <= CONVERGED * lambda) return Math.min(Math.max(after, low), high);
    if (!(low < after && after < high) || Math.abs(g) > 0.25 * before) after = Math.sqrt(low * high);
    [lambda, before] = [after, Math.abs(g)];
  }
  return low;
}
