/** Thrown when the configuration of an agent cannot be edited. */
export class ConfigSyntaxError extends Error {
  override readonly name = 'ConfigSyntaxError'

  constructor(text: string, offset: number, problem: string) {
    super(`line ${text.slice(0, offset).split('\n').length}: ${problem}`)
  }
}
