// The command line of the inspector, run again and again in one process: it is sent the script of the command line and the arguments
// of a run, and sends back what that run printed, or why it failed.

/** What a run gave. */
export interface InspectorRun {
  readonly printed: string
  readonly problem: string | null
}

interface CommandLine {
  runCli(argv: readonly string[]): Promise<void>
}

process.on('message', async ([script = '', ...args]: readonly string[]) => {
  process.send?.(await run(script, args))
})

async function run(script: string, args: readonly string[]): Promise<InspectorRun> {
  const { runCli } = (await import(script)) as CommandLine
  const { write } = process.stdout
  let printed = ''
  const keep = (text: string, done: () => void) => {
    printed += text
    done()
    return true
  }
  // It prints in this one way.
  process.stdout.write = keep as typeof write
  try {
    await runCli([process.execPath, script, ...args])
    return { printed, problem: null }
  } catch (error) {
    return { printed, problem: String(error) }
  } finally {
    process.stdout.write = write
  }
}
