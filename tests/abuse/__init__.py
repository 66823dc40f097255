"""Hostile notebooks, files, requests and addresses: none may gain a point, learn a key, reach another learner, lose a
file, run a script in a page, or take more than seconds or half a gigabyte.

What the attacks of 2026-11-30 did, by surface; what fell has a test in the file that is named.

- record: 45,000 exercises in a progress.json: fell: 5 s for each card of a page (test_page_records)
- record: thousands of mistakes, each compared with every right answer: fell: quadratic in the file
  (test_page_records)
- record: a file that is readable alone, not together with the reader's own: fell: all progress set aside (same)
- record: a verdict of the page's Python with points or mistakes beyond a record's: fell: the reader's own record was
  unreadable from then on (test_page_records)
- sentence: a macro of 9,000 characters, used 500 times, in a formula: fell: 75 s, 2.5 GB (test_page_records)
- sentence: 10,000 signs that begin a formula: fell: 0.4 s for each look at a card (test_page_records)
- sentence: 16 other formulas of 20,000 characters (nested fractions, scripts, arrays, strokes, primes, digits): held:
  an error, or 2 s at most
- sentence: `<a` 100,000 times, in a notebook's card: fell: 64 s (test_page_records); 19 other signs held
- address: `#%`, `#length=1`, a file of a gigabyte for a planner's field: fell, by reading the scripts: errors of the
  scripts, a tab that waits
- collect: 40 zips of 20 kB that unpack to 20 MB of nothing: fell: 9 s of processor time (test_collected_archives)
- collect: 20 notebooks of one learner with 500,000 values each, or 19 MB each: fell: 10 s, 600 MB (same)
- collect: 20 notebooks of nothing, 20 zips of nothing: held: 3 s, 0.1 s
- service: 1,000 silent connections, 1,000 halves of a head, without a token: fell: all others turned away
  (test_service_tokens)
- service: 1,100 bodies that do not come, with a wrong token: held: told 401, and closed
- agent: 21 names, keys, sections, options and units of 100,000 characters or 4,000 digits: one kind fell: the answer
  repeats them as a whole (test_planner_lists)
- agent: /dev/zero, a pipe, /etc/passwd, /etc/shadow, /proc/self/environ as a model: held: none of their contents is
  told
- agent: 144 and 100,000 words to search, texts of a megabyte to read, in five shapes: held: linear, 11 s for 200,000
  lines
- sandbox: many processes that take memory between two looks of the keeper: fell, by reading: looks are sooner now
  (test_keeper)
- ranks: a rank that reports a smaller peak of memory than it had: stays: named in docs/grading.md
- ranks and learners: counts of mapped pages in /proc, locks on files that both read: stays between learners: named
  there
- LTI: a column's maximum of 400 digits; `http://[x` as a column's id, or as the next page: fell: a trace
  (tests/autograder/course/lti/test_platform_answers)
- LTI: a token with a snowman: fell: a trace of the HTTP client; with a line break: fell: the sentence shows it (same)
- LTI: half a character in a column's title: fell: it was taken as a title (same)
- LTI: an answer without an end: fell, by reading: all memory (same)
- LTI: an answer in chunks, one byte each 0.3 s: ends after LONGEST; with a length, one byte each 0.3 s: stays: it is
  waited for as long as bytes come, and Ctrl-C ends it
- LTI: 100,000 brackets, `user@host`, a backslash and an @, ports of eight digits, `https://[` where a token would go:
  held: one sentence, and no token to another host
- exports: 12 beginnings of formulas (=, @, -1+1, a tab, a wide =, a zero-width space, a line break, `;=`): held
"""
