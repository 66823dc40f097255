"""The lab of the scheduler: what goes into the next step of an engine, and the engine tuned for an objective."""

from functools import partial

from autograder.answers import Function
from autograder.declaration import Exercise, Mistake


def _schedule(
    wait,
    run,
    budget,
    seats,
    room,
    *,
    begun=True,
    cut=True,
    counted=True,
    overtakes=False,
    spare=True,
    seated=True,
    whole=True,
    even=False,
    shortest=False,
    first="decode",
    one=False,
    listed=False,
    full=True,
    all_seats=True,
    every=False,
):
    """The next step; the flags are for the mistakes."""
    plan = [(number, 1) for number, left in run if left == 0]
    if first == "prompts" and (wait or len(plan) < len(run)):
        plan = []
    tokens = budget - (len(plan) if counted else 0)
    free = room - (len(plan) if spare else 0)
    prompts = [pair for pair in run if pair[1]]
    order = [*prompts, *wait] if begun else [*wait, *prompts]
    if shortest:
        order.sort(key=lambda pair: pair[1])
    each = max(1, tokens // max(1, len(order)))
    running = {number for number, _ in run}
    seen = len(running) if all_seats else len(plan)
    for number, left in order:
        if (tokens < 1 and not listed) or (not cut and left > tokens):
            break
        part = min(left, each if even else tokens)
        if number not in running or every:
            if seated and seen >= seats:
                break
            if (left if whole else part) > free - (not full):
                if overtakes:
                    continue
                break
            free -= left if whole else part
            seen += 1
        plan.append((number, part))
        tokens -= part
        if one:
            break
    return plan


def schedule(wait, run, budget, seats, room):
    plan = [(number, 1) for number, left in run if left == 0]
    budget, room = budget - len(plan), room - len(plan)
    prompts, seats = [pair for pair in run if pair[1]], seats - len(run)
    for number, left in prompts + wait:
        if budget == 0:
            break
        if (number, left) not in prompts:
            if seats == 0 or left > room:
                break
            seats, room = seats - 1, room - left
        plan.append((number, min(left, budget)))
        budget -= min(left, budget)
    return plan


def _slow(wait, run, budget, seats, room):
    """Decodes alone, as long as there are any."""
    plan = [(number, 1) for number, left in run if left == 0]
    return plan or _schedule(wait, run, budget, seats, room)


def states(random):
    """Moments of a busy engine: a budget, seats and room that bind, each of them in some."""

    def moment(tight):
        numbers = iter(range(random.randint(0, 50), 1000))
        decoding = [(next(numbers), 0) for _ in range(random.randint(2, 9))]
        begun = [(next(numbers), random.randint(20, 900)) for _ in range(random.randint(0, 2))]
        run = [*decoding, *begun]
        if begun and random.random() < 0.5:  # after a cache was lost, prompts stand between
            run.insert(random.randint(0, len(decoding)), run.pop())
        wait = [(next(numbers), random.randint(10, 600)) for _ in range(random.randint(2, 6))]
        unread = sum(left for _, left in begun) + sum(left for _, left in wait)
        budget, seats, room = len(decoding) + 2 * unread, len(run) + 9, 3 * unread
        if tight == "budget":
            budget = len(decoding) + random.randint(1, max(2, unread - 1))
        if tight == "seats":
            seats = len(run) + random.randint(0, len(wait) - 1)
        if tight == "room":
            room = len(decoding) + sum(left for _, left in wait[: random.randint(0, len(wait) - 1)])
            room += random.choice((0, -1, 1))
        if tight == "both":
            before = len(decoding) + wait[0][1]
            budget = before + sum(left for _, left in begun) + wait[1][1] // 3
            room = before + wait[1][1] // 2
        return wait, run, budget, seats, max(room, len(decoding))

    small = [
        ([(4, 7)], [], 1, 1, 9),
        ([(4, 1)], [(2, 0)], 5, 3, 2),
        ([(4, 1), (5, 1)], [], 9, 9, 1),
        ([(4, 50), (5, 3)], [(2, 0)], 20, 9, 10),  # nobody overtakes
        ([(4, 8), (5, 2)], [(2, 0), (3, 0)], 30, 9, 9),  # who generates takes room
        ([(4, 3), (5, 3)], [(2, 0)], 20, 9, 90),  # several prompts in a step
        ([(3, 5)], [(1, 0), (2, 4)], 20, 8, 6),  # of those that run, only who generates takes room
    ]
    return [*small, *(moment(tight) for tight in ("budget", "seats", "room", "both") for _ in range(8))]


LAB_SCHEDULER = Exercise(
    id="serving-lab-scheduler",
    title="Lab: what goes into the next step",
    points=4,
    lines=14,
    prompt="Write the scheduler of an engine with chunked prefill. `wait` and `run` list requests as pairs (number, "
    "left), oldest first: `left` are the tokens of the prompt that are still to be prefilled, 0 for a request that "
    "decodes. Requests in `run` hold the cache of their whole prompts already. A step has at most `budget` tokens, "
    "at most `seats` requests may run, and the cache has `room` for so many tokens more. Return the step as a list "
    "of pairs (number, tokens). First come, in their order, all requests that decode, with one token each, which "
    "also takes a token of room; budget and room are never too small for that. Then prompts, oldest first: those in "
    "`run` whose prefill is not done, then those of `wait`. Each gets as many of its tokens as the budget has left, "
    "so at most one is cut, and a request that gets none is not listed. A request of `wait` may begin only with a "
    "seat and with room for all its tokens that are left, however few of them are in this step; if it may not, no "
    "request behind it begins either. *Exact*, on states of the queue that you do not see.",
    answer=Function("schedule", "schedule(wait, run, budget, seats, room)", cases=states),
    solution=schedule,
    withholds=("hwlib.engine.policies",),
    mistakes=(
        Mistake(
            partial(_schedule, first="prompts"),
            "As long as there is a prompt to prefill, nobody decodes in your steps. How long is the next gap between "
            "two of their tokens then?",
        ),
        Mistake(
            _slow,
            "You prefill only when nobody decodes. How long may the first token of one that waits take then?",
        ),
        Mistake(
            partial(_schedule, cut=False),
            "You read prompts whole, or not at all in this step. What may be done with one that is longer than what "
            "is left of the budget?",
        ),
        Mistake(
            partial(_schedule, counted=False),
            "Your steps have more tokens than the budget. Do those that decode pass through the same products?",
        ),
        Mistake(
            partial(_schedule, begun=False),
            "Your prompts that wait go before those that have begun and hold room in the cache. Which are older?",
        ),
        Mistake(
            partial(_schedule, overtakes=True),
            "A short prompt overtakes a long one that finds no room. If that goes on, when does the long one begin?",
        ),
        Mistake(
            partial(_schedule, spare=False),
            "Each request that decodes takes a token of room in this very step. How much is left for those that wait?",
        ),
        Mistake(
            partial(_schedule, seated=False),
            "More requests run than there are seats. Who may begin?",
        ),
        Mistake(
            partial(_schedule, whole=False),
            "You take room for the part that this step reads. What if the rest of the prompt finds none later?",
        ),
        Mistake(
            partial(_schedule, even=True),
            "Every prompt gets an equal share of the budget, so all of them end late. Oldest first: each as much as is "
            "left.",
        ),
        Mistake(
            partial(_schedule, shortest=True),
            "Your prompts go by length. That makes the mean wait shorter, and here the order is that of their age.",
        ),
        Mistake(
            partial(_schedule, one=True),
            "You read one prompt a step. What of the budget is left when it is short?",
        ),
        Mistake(
            partial(_schedule, listed=True),
            "You list requests with no tokens. Which requests are in a step?",
        ),
        Mistake(
            partial(_schedule, full=False),
            "A prompt that just fills the room does not begin with you. For how many tokens must there be room?",
        ),
        Mistake(
            partial(_schedule, all_seats=False),
            "Only those that decode have seats with you. Who else runs?",
        ),
        Mistake(
            partial(_schedule, every=True),
            "Prompts that have begun look for a seat and for room once more. What do they hold already?",
        ),
    ),
    hints=(
        "Begin with `plan = [(number, 1) for number, left in run if left == 0]`. How much of `budget` and of `room` is "
        "left then?",
        "One loop over the prompts of `run` and then those of `wait` does the rest: `part = min(left, budget)`. Only "
        "one that waits is asked for a seat and for room.",
        "`break` where one that waits may not begin. Room goes by `left`, the budget by `part`.",
    ),
    explain="All that decode go first, so none of them waits longer than a step, and the budget bounds how long a "
    "step can take: that is what makes the schedule free of stalls. What is left of the budget carries prompts, and "
    "cutting the last one fills the step exactly. Room is taken for whole prompts, since one that began and finds no "
    "room for its end blocks the cache for nothing; and nobody overtakes, since a long prompt would wait forever among "
    "short ones. The budget is the one number to choose: a small one bounds the gaps between tokens, and reads the "
    "cache of each long prompt again for every part.",
)
