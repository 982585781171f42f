"""The truth of every item, z: take out, weigh, pick, put back. The same code for every model.

p(z[i] = t | rest) is proportional to (n[t] + eps mu[t]) times, label by label of the item,
(n[matrix, t, c] + beta eta[base, t, c]) / (n[matrix, t] + beta[base, t]), where the counts hold
neither item i nor ... but do hold the item's labels already gone through: labels that share a
matrix are not independent.
"""
