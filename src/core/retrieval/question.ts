/** Longest question that is accepted, in characters. */
export const MAX_QUESTION_CHARS = 20_000

/** Number of function names that are kept from one stack trace. */
const MAX_FRAME_NAMES = 3

/** A longer line is not a frame. */
const MAX_FRAME_CHARS = 500

/** A stack trace has at least this many frames; a single line of that shape may be anything. */
const MIN_FRAMES = 2

/** The shapes of a stack frame, each with the name of the function in its first group. */
const FRAMES: readonly RegExp[] = [
  // JavaScript, Java, Kotlin, C#: `at Server.listen (server.js:10:5)`, `at com.acme.Main.run(Main.java:12)`
  /^\s*at\s+(?:async\s+|new\s+)?([\w$.<>]+)(?: \[as \w+\])?\s*\(.*\)(?: in .*)?\s*$/,
  /^\s*at\s+(?:file:\/\/|\/|node:|[A-Za-z]:\\)\S+:\d+(?::\d+)?\s*$/,
  // Python: `File "app.py", line 3, in main`
  /^\s*File ".*", line \d+(?:, in (\S+))?\s*$/,
  // Rust: `3: app::server::run`, `at ./src/server.rs:10:5`
  /^\s*\d+:\s+(?:0x[\da-f]+ - )?((?:\w+::)+\w+).*$/,
  /^\s*at \.{0,2}\/\S+:\d+(?::\d+)?\s*$/,
  // Go: `main.run(0x1, 0x2)`, `/app/main.go:10 +0x1d`
  /^([\w/-]+(?:\.[\w/-]+)*\.[\w*]+)\([0-9a-fx?, .{}]*\)\s*$/,
  /^\s*\/\S+\.go:\d+(?: \+0x[\da-f]+)?\s*$/,
  // gdb: `#1  0x00005 in main () at main.c:12`
  /^#\d+\s+(?:0x[\da-f]+ in )?([\w:~]+) \(.*$/,
]

/** Lines around the frames of a trace that carry no information. */
const TRACE_NOISE =
  /^\s*(?:Traceback \(most recent call last\):|stack backtrace:|goroutine \d+ \[.*\]:|\.\.\. \d+ more|note: run with `RUST_BACKTRACE.*|[~^]+)\s*$/

/** Frames of a language's own library or of installed packages, which the question is not about. */
const FOREIGN_FRAME =
  /node_modules|site-packages|dist-packages|\bnode:|\bjava\.(?:base|lang|util)|\bjdk\.|\bsun\.|\/lib\/python|\bstd::|\bcore::|\bSystem\.|\/rustc\//

/** Prefix of a log message: date and time, and fields in brackets after them. */
const LOG_PREFIX =
  /^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?\]?(?:\s+\[[^\]]*\])*\s*/

/** Values that differ in every run: addresses in memory, ids, times. */
const VOLATILE_VALUES =
  /\b0x[\da-f]{9,}\b|\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b|\b\d\d:\d\d:\d\d(?:[.,]\d+)?\b/gi

/**
 * The part of a question that is worth searching. A pasted stack trace is reduced to its exception, its message and the names of the user's
 * own functions; log lines lose their prefixes. Any other question is returned unchanged.
 */
export function reduceQuestion(question: string): string {
  const lines = question.split('\n')
  const isFrame = lines.map((line) => line.length <= MAX_FRAME_CHARS && FRAMES.some((frame) => frame.test(line)))
  const isTrace = isFrame.filter(Boolean).length >= MIN_FRAMES
  const isLog = lines.some((line) => LOG_PREFIX.test(line))
  if (!isTrace && !isLog) return question
  const kept = lines.filter(
    (line, i) => !isTrace || !(isFrame[i] || isSourceLine(lines, isFrame, i) || TRACE_NOISE.test(line)),
  )
  const names = isTrace ? listOwnNames(lines.filter((_, i) => isFrame[i])) : []
  const reduced = [...kept.map((line) => line.replace(LOG_PREFIX, '').replace(VOLATILE_VALUES, ' ')), names.join(' ')]
    .join('\n')
    .trim()
  // If a trace has only foreign frames, it is searched as a whole.
  return reduced === '' ? question : reduced
}

/** Whether a line repeats the source code of the Python frame above it. */
function isSourceLine(lines: readonly string[], isFrame: readonly boolean[], i: number): boolean {
  return isFrame[i - 1] === true && /^\s*File "/.test(lines[i - 1] ?? '') && /^\s{2,}\S/.test(lines[i] ?? '')
}

/** The functions of the user's own code nearest to the failure. Python prints those last. */
function listOwnNames(frames: readonly string[]): string[] {
  const ownFrames = frames.filter((frame) => !FOREIGN_FRAME.test(frame))
  const ordered = ownFrames.some((frame) => /^\s*File "/.test(frame)) ? ownFrames.toReversed() : ownFrames
  const names = ordered.flatMap((frame) => FRAMES.map((shape) => shape.exec(frame)?.[1]).find(Boolean) ?? [])
  return [...new Set(names)].filter((name) => !/^<.*>$/.test(name)).slice(0, MAX_FRAME_NAMES)
}
