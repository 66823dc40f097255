"""Makes, in every exercise that a machine judges, the first mistake that its declaration knows."""

import ast

from autograder.declaration import call_with

from .book import answer, letters


def submit(nb, book):
    for exercise in book.exercises:
        if exercise not in book.written:
            answer(nb, exercise.id, wrong(exercise, book))


def wrong(exercise, book):
    name = exercise.answer_name
    if exercise.kind == "Distributed":  # whose declared mistakes are generators
        return f"def {name}(rank, n, x):\n    return x"
    if exercise.kind in ("Function", "Algorithm", "Kernel"):
        return f"{name} = ...\n{written(exercise, book)}"
    mistake = exercise.mistakes[0].value
    if exercise.kind == "Expression":
        return f"answer = {str(call_with(mistake, letters(exercise)))!r}"
    return f"answer = {call_with(mistake, exercise.variant())!r}"


def written(exercise, book):
    """The first mistake as it stands in the file of declarations, after what it uses of that file."""
    tree = declarations(book.bank.path)
    for node in ast.walk(tree):
        given = {k.arg: k.value for k in node.keywords} if isinstance(node, ast.Call) else {}
        if isinstance(given.get("id"), ast.Constant) and given["id"].value == exercise.id:
            mistake = given["mistakes"].elts[0].args[0]
            return "\n".join([*used_by(mistake, tree), f"{exercise.answer_name} = {ast.unparse(mistake)}"])
    raise LookupError(f"{exercise.id} is not declared in {book.bank.path}")


def declarations(path):
    """A file of declarations, or all files of a folder as if they were one."""
    files = sorted(path.glob("*.py")) if path.is_dir() else [path]
    modules = [ast.parse(file.read_text(encoding="utf-8")) for file in files]
    return ast.Module([statement for module in modules for statement in module.body], [])


def used_by(node, tree):
    """The imports and functions at the top of the file that `node` uses, and that these use."""
    names, more = set(), names_in(node)
    while more - names:
        names |= more
        more = {n for f in tree.body if isinstance(f, ast.FunctionDef) and f.name in names for n in names_in(f)}
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and not statement.level:
            here = [a for a in statement.names if a.name == "*" or (a.asname or a.name) in names]
            if here:
                yield ast.unparse(ast.ImportFrom(statement.module, here, statement.level))
        elif isinstance(statement, ast.FunctionDef) and statement.name in names:
            yield ast.unparse(statement)


def names_in(node):
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
