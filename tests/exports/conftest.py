from graphs_by_hand import odd, small

__all__ = ["odd", "small"]
