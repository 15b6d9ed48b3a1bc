export { embeddedText, PROBE_TEXT, TEXT_RECIPE } from '../../core/embedding/embedded-text.ts'
