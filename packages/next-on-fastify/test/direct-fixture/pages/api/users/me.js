export default function handler(_, response) {
  response.json('me')
}
