// As TypeScript and Babel compile `export default`.
const { default: app } = require('./faults.ts') as { default: () => unknown }

Object.defineProperty(exports, '__esModule', { value: true })
exports.default = app
exports.warmUp = (): void => {}
