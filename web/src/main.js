import { Report } from './data.js'; Report.fromDocument(document).then((r)=>{window.report=r;});
