/** The offset between the server clock and the local clock, estimated from responses. */
export class ServerTime {
  #offset = 0

  /** How many milliseconds the server is ahead. */
  get offset(): number {
    return this.#offset
  }

  /**
   * Takes a server time that was read between two local times. The known offset stays while it is consistent: a slow response says little,
   * and adjusting the offset with every response would make the clock unsteady.
   */
  addSample(before: number, serverTime: number, after: number): void {
    const [min, max] = [serverTime - after, serverTime - before]
    // Both times are truncated to milliseconds.
    if (this.#offset < min - 1 || this.#offset > max + 1) this.#offset = Math.round((min + max) / 2)
  }
}
