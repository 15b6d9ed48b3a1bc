/** A page that cannot be read at all. The message continues a sentence that begins with "the page". */
export class PageDefect extends Error {}
