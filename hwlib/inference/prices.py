"""What a request costs on rented accelerators, and what a service earns."""

from hwlib.formula import formula


@formula("cost_req", cite="deepseek-serving")
def request_cost(T_in, T_out, R_in, R_out, price, hit=0):
    """Seconds of a rank for the prompt's tokens that were not found in a cache, and for those that are generated.

    R_in and R_out are tokens a second of one rank, of computed prompt tokens and of generated ones. Where a published
    R_in counts what the cache finds as well, `hit` stays 0.
    """
    return price * (T_in * (1 - hit) / R_in + T_out / R_out)


def cost_margin(revenue: float, cost: float) -> float:
    """Profit over cost, as DeepSeek counts it: 5.45 where 6.45 dollars come in for each that is paid.

    >>> round(cost_margin(562_027, 87_072), 2)
    5.45
    """
    return revenue / cost - 1
