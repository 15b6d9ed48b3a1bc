// Runs the command line of the inspector repeatedly in one process: receives the script and arguments of a run, and sends back its output
// or error.

/** The result of one run. */
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
  const capture = (text: string, done: () => void) => {
    printed += text
    done()
    return true
  }
  // The inspector prints only through this function.
  process.stdout.write = capture as typeof write
  try {
    await runCli([process.execPath, script, ...args])
    return { printed, problem: null }
  } catch (error) {
    return { printed, problem: String(error) }
  } finally {
    process.stdout.write = write
  }
}
