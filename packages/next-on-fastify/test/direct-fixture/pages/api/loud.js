export default function handler() {
  throw new Error('The API is loud')
}
