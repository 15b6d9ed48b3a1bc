/** Why something cannot be installed, in words for people, and what they can do about it. */
export class InstallProblem extends Error {
  readonly advice: string

  constructor(problem: string, advice = 'nothing was put in place; give a folder with the files by --from') {
    super(problem)
    this.advice = advice
  }
}
