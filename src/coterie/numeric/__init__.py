"""How loops are compiled; Gamma, Dirichlet and Chinese restaurant draws of whole arrays."""
