export function GET() {
  throw new Error('The handler is loud')
}
