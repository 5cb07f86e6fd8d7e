"""What people report of the columns of a network: how linked, how predictable, in which group."""

from isinglass.measures.communities import Communities, communities
from isinglass.measures.nodes import nodes
from isinglass.measures.predictability import Predictability, predictability

__all__ = ["Communities", "Predictability", "communities", "nodes", "predictability"]
