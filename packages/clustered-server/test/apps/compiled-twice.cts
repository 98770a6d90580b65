// A module of CommonJS that hands on another one, as bundlers do.
Object.defineProperty(exports, '__esModule', { value: true })
exports.default = require('./compiled.cts') as unknown
