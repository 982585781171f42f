"""Roles: what an annotator or a coterie is, as far as the posterior supports it."""

from coterie.roles.role import Kind, Pattern, Role, Roles, roles_of

__all__ = ["Kind", "Pattern", "Role", "Roles", "roles_of"]
