"""A planner for the test of --planner: breadth-first search on problems without parameters, as `threadbare export pddl` writes them."""

import re
import sys


def parse(text):
    """The lists that a PDDL file is."""
    stack = [[]]
    for token in re.findall(r"[()]|[^\s()]+", re.sub(r";.*", "", text)):
        if token == "(":
            stack.append([])
        elif token == ")":
            inner = stack.pop()
            stack[-1].append(inner)
        else:
            stack[-1].append(token)
    return stack[0][0]


def conjuncts(condition):
    parts = condition[1:] if condition and condition[0] == "and" else [condition]
    positive = frozenset(part[0] for part in parts if part and part[0] != "not")
    negative = frozenset(part[1][0] for part in parts if part and part[0] == "not")
    return positive, negative


def main(domain, problem):
    actions = []
    for item in parse(open(domain).read()):
        if item[0] == ":action":
            fields = dict(zip(item[2::2], item[3::2]))
            actions.append((item[1], conjuncts(fields[":precondition"]), conjuncts(fields[":effect"])))
    fields = {item[0]: item for item in parse(open(problem).read()) if isinstance(item, list)}
    start = frozenset(fact[0] for fact in fields[":init"][1:])
    goal, _ = conjuncts(fields[":goal"][1])
    came = {start: None}
    level = [start]
    while level:
        following = []
        for state in level:
            if goal <= state:
                plan = []
                while came[state]:
                    state, name = came[state]
                    plan.append(name)
                print("".join(f"({name})\n" for name in reversed(plan)), end="")
                return
            for name, (needs, lacks), (adds, deletes) in actions:
                if needs <= state and not lacks & state:
                    after = (state - deletes) | adds
                    if after not in came:
                        came[after] = (state, name)
                        following.append(after)
        level = following


main(*sys.argv[1:3])
