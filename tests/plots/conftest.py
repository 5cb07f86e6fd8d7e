from graphs_by_hand import link, odd, small

__all__ = ["link", "odd", "small"]
