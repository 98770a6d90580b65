export { GET } from '../../../../../web/app/handlers/draft/[state]/route'
