plugins { kotlin("jvm") version "1.9.24" }

dependencies {
    implementation("org.jetbrains.kotlin:kotlin-stdlib")
}
