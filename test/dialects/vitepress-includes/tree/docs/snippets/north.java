import a.B;
// #region needle
class Needle {
  String north() { return "N"; }
}
// #endregion needle
