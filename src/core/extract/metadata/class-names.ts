/* Class names that mark an element as a byline or as a reader comment. */

const BYLINE =
  /(?:^|\s)(?:by-?line|author|(?:entry|post|article|story|page)[-_]{1,2}author|author[-_]{1,2}name|byline[-_]{1,2}name)(?=\s|$)/i

/** Whether an element with these classes names the author of the document. */
export function isBylineClass(classes: string): boolean {
  return BYLINE.test(classes)
}

const COMMENT = /(?:^|[\s_-])comments?(?=[\s_-]|$)/i

/** Whether an element with these classes is a reader comment or contains reader comments. */
export function isCommentClass(classes: string): boolean {
  return COMMENT.test(classes)
}
