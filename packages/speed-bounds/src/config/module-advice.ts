/** Advice for the error of an import: Node has taken a module for CommonJS. Empty for other errors. */
export function moduleAdvice(message: string): string {
  const isTaken = /Unexpected token 'export'|Cannot use import statement outside a module/.test(message)
  return isTaken ? '. Set "type": "module" in package.json.' : ''
}
