// Words of messages with one-time codes, and of numbers that are none, in the languages that senders use. Regular expressions without repetition of
// repetitions: they take linear time. A class with "-", which both begins and continues a word, has a bounded repetition.

/** Regular expressions, separated by semicolons. */
const alternatives = (list: string): string =>
  list
    .split(';')
    .map((word) => word.trim())
    .join('|');

/** Words that announce a code. Stems, because languages inflect. */
const ANNOUNCING = alternatives(`
  codes?; passcodes?; passwords?; otp; pin; tan; mtan; tac; 2fa; token; security key; verification number;
  c[óo]digos?; clave; contrase[ñn]a; senha; codice; codi; parola d[’']ordine; mot de passe; code-sms;
  [a-zäöüß-]{0,40}(?:code|kode?n?|pin|tan); kennwort; [a-zäöüß]*passwort; verificatiecode; koden;
  kod[a-ząęuyie]*; hasło; kód[a-z]*; codul; jelsz[óo]; kod[a-zığüşöç]*; [şs]ifre[a-zığüşöç]*; parola[a-zığüşöç]*;
  kode; kata sandi; m[ãa]; κωδικ[α-ωάέήίόύώ]*; код[а-яії]*; пароль[а-я]*; пароля
`);

/** The same in scripts without spaces between words, or with joined prefixes. */
const ANNOUNCING_JOINED = alternatives(`
  验证码; 驗證碼; 校验码; 校驗碼; 动态码; 動態碼; 动态密码; 動態密碼; 确认码; 確認碼; 登录码; 认证码; 認證碼; 安全码; 安全碼; 短信码; 一次性密码; 一次性密碼; 密码; 密碼; 代码; 代碼; 识别码;
  コード; 認証番号; 確認番号; 暗証番号; パスワード; ワンタイム; 認証キー; 인증번호; 인증 번호; 확인번호; 인증코드; 인증 코드; 코드; 비밀번호; 승인번호; رمز; كود; الرمز;
  كلمة المرور; کد; رمز عبور; קוד; סיסמה; סיסמא; कोड; ओटीपी; पासवर्ड; รหัส
`);

/** Words before "code" that make it another kind of code. */
const OTHER_CODES = alternatives(String.raw`
  promo(?:tion(?:al)?)?; promoc\w*; discount; coupon; voucher; gift; referral; invit\w*; zip; postal; post; area;
  country; error; qr; bar; dress; sort; swift; tracking; booking; pick-?up; offer; product; reason; status; source;
  short; locker; gate; door; wifi; wi-fi; reservation; airline; order; pairing id; rabatt; gutschein; postleit;
  aktions
`);

const OTHER_CODES_AFTER = alternatives(String.raw`
  postal; promo\w*; promocional; de descuento; de desconto; de réduction; sconto; di sconto; rabatt; cadeau;
  parrainage; de parrainage; invitaci[óo]n; de seguimiento; de rastreamento; de reserva; de réservation;
  di prenotazione; de suivi; de barras; qr; fiscal; fiscale; de área; d[’']erreur; de error; de erro; di errore;
  ошибки; промо\w*; скидк\w*
`);

/** A number after one of these is no code. */
const LABELS_BEFORE = alternatives(String.raw`
  order; order number; orders; tracking; tracking number; parcel; package; shipment; invoice; ref; reference;
  ref\.? no; ticket; case; case number; transaction; txn; trx; booking; reservation; confirmation number;
  confirmation no; confirmation #; confirmation; policy; claim; flight; room; unit; apt; suite; gate; id; user id;
  member; customer; serial; po box; box; version; build; ext; zip; error; case id; request; terminal; store; ending;
  ending in; ending with; ends in; ends with; card; account; acct; a\/c; a\/c no; xx+; x+; amount; total; balance;
  sum; paid; pay; payment of; (?<!\d ?)(?:rs|inr|usd|eur|gbp|us\$|aud|cad|cny|jpy|rub|sar|aed|brl|mxn); limit; of;
  call; call us; call us at; dial; phone; tel; telephone; mobile; number; sms to; text; text stop to; stop to; to;
  from; fax; helpline; support; hotline; call or text; contact; reply to; since; by; until; on; at; year; copyright;
  ©; expires; exp; pedido; pedido n[ºo°.]*; orden; n[úu]mero de pedido; n[úu]mero; n[ºo°]; terminada en; terminada;
  terminado en; tarjeta; cuenta; cart[ãa]o; conta; final; termina em; importe; monto; valor; valor de; saldo;
  llame al; llama al; ligue; ligue para; tel[ée]fono; telefone; factura; fatura; gu[íi]a; seguimiento; rastreio;
  referencia; refer[êe]ncia; ordine; ordine n\.?; carta; conto; importo; chiama; chiami il; riferimento; spedizione;
  fattura; commande; commande n[°ºo]; carte; compte; colis; colis n[°ºo]; facture; montant; appelez; appelez le; au;
  se terminant par; finissant par; r[ée]f[ée]rence; dossier; en; del; em; plz; postleitzahl; bestellung;
  bestellnummer; bestellung nr; nr; nummer; auftrag; sendung; sendungsnummer; paket; rechnung; karte; konto;
  endziffern; endet auf; endend auf; betrag; anrufen; rufen sie; telefon; kundennummer; referenz; vorgang;
  zam[óo]wienie; numer; sipari[şs]; hesap; kart; заказ[а-я]*; №; номер[а-я]*; карт[а-я]*; сч[её]т[а-я]*; сумм[а-я]*;
  баланс; посылк[а-я]*; трек[а-я-]*; телефон[а-я]*; звоните; тел; договор[а-я]*
`);

const LABELS_BEFORE_JOINED = alternatives(`
  订单号?; 訂單(?:編?號)?; 单号; 運單; 运单号?; 快递; 尾号为?; 尾號; 末四位; 卡号; 卡; 账户; 帳戶; 账号; 金额; 金額; 余额; 餘額; 电话; 電話; 致电; 致電; 拨打; 撥打; 热线;
  客服; 客服热线; 编号; 編號; 航班; 注文番号; ご注文番号; 注文; 伝票番号; 追跡番号; 予約番号; 受付番号; お客様番号; 電話番号; (?<!認証|確認|暗証)番号; カード; 口座; 末尾; 下4桁; 金額;
  残高; お問い合わせ番号; お問い合わせ; 주문번호; 송장번호; 운송장; 계좌; 카드; 고객센터; 문의; 전화; طلبك رقم; رقم الطلب; الطلب رقم; الطلب; رقم الشحنة; رقم;
  برقم; بطاقة; بطاقتك; المنتهية ب; المنتهية بـ; الحساب; حسابك; بمبلغ; مبلغ; المبلغ; رصيدك; اتصل; على; فاتورة; الشحنة;
  سفارش; شماره; حساب; مبلغ; הזמנה; מספר; כרטיס; חשבון; טלפון; बैंक खाता; खाता; खाते; ऑर्डर; राशि
`);

/** A number before one of these is an amount, a duration or a distance. */
const UNITS_AFTER = alternatives(String.raw`
  %; €; \$; £; ¥; ₹; ₽; ₩; ₺; 円; 元; 원; 块; 分钟; 分鐘; 分間; 分; 秒; 小时; 小時; 時間; 日; 年; 月; 号; 點; 点; 번; 일; 시; 분; دقيقة; دقائق;
  ريال; درهم; جنيه; دولار; تومان; דקות; שח; ש"ח; ₪; रुपये
`);
const UNIT_WORDS_AFTER = alternatives(`
  usd; eur; gbp; inr; rs; rub; руб[а-я]*; р; тг; грн; try; tl; pln; zł; brl; mxn; cny; rmb; jpy; sar; aed; dollars?;
  euros?; pesos?; reais; points?; puntos; pontos; punti; punkte; баллов; mins?; minutes?; minutos?; minuti; minuten;
  мин[а-я]*; seconds?; segundos?; secondes?; sekunden; hours?; horas?; heures?; stunden; час[а-я]*; ore; km; mb; gb;
  kb; kwh; am; pm; uhr; г
`);

/** "enter 123456" */
const ENTERING = alternatives(`
  use; enter; type; input; usa; use o; introduce; introduzca; ingresa; ingrese; utiliza; digite; insira; utilisez;
  saisissez; entrez; inserisci; inserire; usa il; gib; geben sie; verwenden sie; verwende; nutze; введите;
  используйте; girin; wpisz
`);

const words = (source: string): string => `(?<![\\p{L}\\p{N}])(?:${source})(?![\\p{L}\\p{N}])`;

const announcing = `(?:${words(ANNOUNCING)}|${ANNOUNCING_JOINED})`;

/** All announcements in a text. */
export const ANNOUNCEMENT = new RegExp(announcing, 'giu');
/** At the end of the text before an announcement. */
export const OTHER_CODE_BEFORE = new RegExp(`(?<![\\p{L}])(?:${OTHER_CODES})[\\s-]?$`, 'iu');
/** At the beginning of the text after an announcement. */
export const OTHER_CODE_AFTER = new RegExp(`^[ -](?:${OTHER_CODES_AFTER})(?![\\p{L}])`, 'iu');
/** At the end of the text before a number. */
export const LABEL_BEFORE = new RegExp(
  `(?:(?<![\\p{L}\\p{N}])(?:${LABELS_BEFORE})|${LABELS_BEFORE_JOINED})(?:\\.|:|：|#| no\\.?| number| #| is| ist| es| est)? ?[#№*(]?$`,
  'iu',
);
/** At the beginning of the text after a number. */
export const UNIT_AFTER = new RegExp(`^ ?(?:${UNITS_AFTER}|(?:${UNIT_WORDS_AFTER})(?![\\p{L}\\p{N}]))`, 'iu');
/** At the end of the text before a number. */
export const ENTER_BEFORE = new RegExp(
  `(?:(?<![\\p{L}\\p{N}])(?:${ENTERING}) |输入|輸入|أدخل |استخدم )$`,
  'iu',
);
/** A text that sells something: its code with letters is for a discount. */
export const MARKETING =
  /%|(?<!\p{L})(?:off|discount|sale|coupon|checkout|rabatt|descuento|desconto|r[ée]duction|sconto|promo\p{L}*|скидк\p{L}*)(?!\p{L})|خصم|优惠|優惠|割引|クーポン|할인/iu;
