export default function handler(_, response) {
  response.send('secret')
}
