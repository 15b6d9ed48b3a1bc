/** Why an installation failed, with advice for the user. */
export class InstallError extends Error {
  readonly advice: string

  constructor(problem: string, advice = 'nothing was put in place; give a folder with the files by --from') {
    super(problem)
    this.advice = advice
  }
}
