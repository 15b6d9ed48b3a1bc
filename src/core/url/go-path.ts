/** Writes a module path or version as the module cache does, where `BurntSushi` is `!burnt!sushi`: some disks ignore the case of letters. */
export function escapeGoPath(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => `!${letter.toLowerCase()}`)
}
