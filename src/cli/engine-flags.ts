import { setFlagsFromString } from 'node:v8'

/** Commands that run for long and answer the same kinds of requests again and again: V8's defaults suit them. */
const SERVERS: ReadonlySet<string> = new Set(['serve', 'demo'])
/** An agent's server runs for days beside other programs. With V8's defaults its memory would double after two hundred requests. */
const SLOW_HEAP_GROWTH = ['--semi-space-growth-factor=1', '--heap-growing-percent=20']
/**
 * Compiles only code that runs very often, and inlines less of it. A crawl runs much different code, each part for a short time, so by
 * default the compiler takes a quarter of the CPU time and 20 MB.
 */
const LITTLE_COMPILATION = [
  '--invocation-count-for-maglev=1500',
  '--invocation-count-for-turbofan=15000',
  '--max-inlined-bytecode-size-cumulative=300',
]

/**
 * Sets V8's flags for a command. Call it before the compile cache is opened: V8 accepts compiled code only under the flags with which it was
 * written, and Node has a folder for each set of flags.
 */
export function setEngineFlags(args: readonly string[]): void {
  const [command = ''] = args
  if (SERVERS.has(command)) return
  const flags = command === 'mcp' ? SLOW_HEAP_GROWTH : LITTLE_COMPILATION
  for (const flag of flags) setFlagsFromString(flag)
}
