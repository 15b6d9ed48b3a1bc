/** A page that cannot be read whatever is tried; the message says why, as what follows "the page". */
export class PageDefect extends Error {}
