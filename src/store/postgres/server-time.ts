/** How the clock of a server differs from that of this machine, as far as its answers tell. */
export class ServerTime {
  #offset = 0

  /** By how many milliseconds it is ahead. */
  get offset(): number {
    return this.#offset
  }

  /**
   * Learns from what it told between two moments of this machine. What was known stays as long as it can be right: an answer that took
   * its time says little, and a clock that is set a bit with each of them would be none.
   */
  note(before: number, told: number, after: number): void {
    const [least, most] = [told - after, told - before]
    // Both are cut to whole milliseconds.
    if (this.#offset < least - 1 || this.#offset > most + 1) this.#offset = Math.round((least + most) / 2)
  }
}
