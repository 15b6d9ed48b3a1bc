/** Why an installation failed, with advice for the user. */
export class InstallError extends Error {
  readonly advice: string

  constructor(
    problem: string,
    advice = 'nothing was installed; use --from <folder> to install from a folder that contains the files',
  ) {
    super(problem)
    this.advice = advice
  }
}
