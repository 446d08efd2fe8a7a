export async function openGuard(card, bytes) {
  const w = new Float32Array(bytes);
  return {card, w, items: card.items, values: card.values, goals: card.goals, scale: card.scale, prior: Float64Array.from(card.prior)};
}
export function infer(guard, ratings) {
  const m = guard.values.length;
  const s = Array.from(guard.prior, Math.log);
  for (const [item, entry] of ratings) for (let k = 0; k < m; k++) s[k] += entry * guard.w[item * m + k];
  const top = Math.max(...s);
  const e = s.map((x) => Math.exp(x - top));
  const t = e.reduce((a, b) => a + b);
  return {probabilities: Float64Array.from(e, (x) => x / t), prior: guard.prior};
}
const kl = (p, q) => p.reduce((a, x, k) => a + (x > 0 ? x * Math.log(x / q[k]) : 0), 0);
const without = (ratings, item) => { const r = new Map(ratings); r.delete(item); return r; };
export function telling(guard, ratings) {
  const all = kl(infer(guard, ratings).probabilities, guard.prior);
  return [...ratings.keys()].map((item) => ({item, told: all - kl(infer(guard, without(ratings, item)).probabilities, guard.prior)})).sort((a, b) => b.told - a.told);
}
export function plan(guard, ratings, {goal, budget, locked, never, secret}) {
  const before = infer(guard, ratings).probabilities;
  const top = before.indexOf(Math.max(...before));
  const target = (top + 1 + secret[0] % (guard.values.length - 1)) % guard.values.length;
  let now = new Map(ratings);
  const changes = [];
  for (let k = 0; k < budget; k++) {
    const p = infer(guard, now).probabilities;
    const add = goal === "mislead" || (goal === "both" && k % 2);
    let best = null;
    for (let item = 0; item < guard.items.length; item++) {
      if (add ? now.has(item) || ratings.has(item) || never.has(item) : !now.has(item) || locked.has(item) || !ratings.has(item)) continue;
      const next = add ? new Map(now).set(item, 1) : without(now, item);
      const q = infer(guard, next).probabilities;
      const score = add ? -q[target] : kl(q, guard.prior);
      if (!best || score < best.score) best = {item, next, q, score, from: now.get(item) ?? 0, to: add ? 1 : 0};
    }
    if (!best) break;
    changes.push({item: best.item, from: best.from, to: best.to, effect: best.q[top] - p[top]});
    now = best.next;
  }
  return {changes, before, after: infer(guard, now).probabilities, pointsTo: goal === "conceal" ? null : target};
}
export function toRating(guard, entry) { const {low, high} = guard.scale; return Math.min(high, Math.max(low, entry * high)); }
export function toEntry(guard, rating) { return rating / guard.scale.high; }
