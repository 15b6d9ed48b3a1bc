export { embeddedText, PROOF_TEXT, TEXT_RECIPE } from '../core/embedding/embedded-text.ts'
