/** Why an installation failed, with advice for the user. */
export class InstallError extends Error {
  readonly advice: string

  constructor(problem: string, advice = 'nothing was installed; give a folder with the files with --from') {
    super(problem)
    this.advice = advice
  }
}
